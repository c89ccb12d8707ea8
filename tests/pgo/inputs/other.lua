-- SPDX-License-Identifier: GPL-2.0-only
local function queens(n)
	local rows, up, down, found = {}, {}, {}, 0
	local function place(c)
		if c > n then found = found + 1 return end
		for r = 1, n do
			if not rows[r] and not up[r + c] and not down[r - c + n] then
				rows[r], up[r + c], down[r - c + n] = true, true, true
				place(c + 1)
				rows[r], up[r + c], down[r - c + n] = nil, nil, nil
			end
		end
	end
	place(1)
	return found
end
print(queens(7))
local sieve, count = {}, 0
for i = 2, 20000 do
	if not sieve[i] then
		count = count + 1
		for j = i * i, 20000, i do sieve[j] = true end
	end
end
print(count)
local co = coroutine.wrap(function()
	for i = 1, 3000 do coroutine.yield(i % 17) end
end)
local all = {}
for i = 1, 3000 do all[#all + 1] = string.format("%03d:%s", co(), i) end
table.sort(all)
print(all[1], table.concat(all, ","):len())
for k, v in ("a=1, b=2, c=3"):rep(300, ", "):gmatch("(%w+)=(%w+)") do
	all[k] = (all[k] or 0) + tonumber(v)
end
print(all.a, all.b, all.c, math.max(table.unpack({ 3, 9, 4 })))
