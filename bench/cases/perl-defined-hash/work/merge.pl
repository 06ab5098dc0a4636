use strict;
use warnings;
my (%seen, @out);
open my $in, '<', 'names' or die "names: $!\n";
while (my $name = <$in>) {
    chomp $name;
    push @out, $name unless $seen{$name}++;
}
if (!defined(%seen) || !defined @out) { die "no names\n" }
open my $res, '>', 'unique' or die "unique: $!\n";
print $res "$_\n" foreach @out;
