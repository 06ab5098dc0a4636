use strict;
use warnings;
our $rate = 0;
open my $out, '>', 'levy.txt' or die "$!\n";
open my $in, '<', 'nights.txt' or die "levy: nights.txt: $!\n";
while (<$in>) { chomp; /^\d+$/ or die "levy: '$_'\n"; print {$out} $_ * $rate, "\n" }
