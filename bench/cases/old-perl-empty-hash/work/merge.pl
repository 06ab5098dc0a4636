use strict;
use warnings;
my %seen;
open my $in, '<', 'names' or die "names: $!\n";
while (my $name = <$in>) {
    chomp $name;
    $seen{$name}++;
}
die "no names\n" unless defined %seen;
open my $res, '>', 'unique' or die "unique: $!\n";
print $res "$_\n" foreach sort keys %seen;
