-- A table filled, sorted and summed.
local t, sum = {}, 0
for i = 1, 3000 do t[i] = (i * 7919) % 1009 end
table.sort(t)
for i, v in ipairs(t) do
	sum = sum + v * i
	if v % 3 == 0 then sum = sum - #tostring(v) end
end
print(sum)
