-- SPDX-License-Identifier: GPL-2.0-only
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print(fib(22))
local words = {}
for i = 1, 6000 do
	local key = "w" .. (i * 7919 % 997)
	words[key] = (words[key] or 0) + i
end
local keys = {}
for key in pairs(words) do keys[#keys + 1] = key end
table.sort(keys, function(a, b) return words[a] < words[b] end)
print(#keys, keys[1])
local text = string.rep("the quick brown fox jumps over the lazy dog ", 60)
print(select(2, text:gsub("%a+", function(w) return w:upper() end)))
print(#text:reverse(), text:find("lazy", 1, true))
local sum = 0
for y = -12, 12 do
	for x = -20, 20 do
		local a, b, n = 0.0, 0.0, 0
		while a * a + b * b < 4 and n < 60 do
			a, b, n = a * a - b * b + x / 14, 2 * a * b + y / 12, n + 1
		end
		sum = sum + n
	end
end
print(sum)
local Stack = {}
Stack.__index = Stack
function Stack:push(v) self[#self + 1] = v end
function Stack:pop() return table.remove(self) end
local s = setmetatable({}, Stack)
for i = 1, 8000 do s:push(i); if i % 3 == 0 then s:pop() end end
print(#s)
