# Strings gathered in a hash, matched and summed.
my (%groups, $sum);
for my $i (1 .. 1500) {
	my $key = ($i * 7919) % 997;
	$groups{$key} .= chr(65 + $i % 26);
	$sum += length $groups{$key};
}
for my $key (sort { $a <=> $b } keys %groups) {
	$sum ^= ord $groups{$key} if $groups{$key} =~ /[A-M]+$/;
}
print "$sum\n";
