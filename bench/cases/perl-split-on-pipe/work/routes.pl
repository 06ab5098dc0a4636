#!/usr/bin/perl
# routes.dat: name|gateway|metric
use strict;
use warnings;
open my $in, '<', 'routes.dat' or die "routes.dat: $!\n";
open my $out, '>', 'routes.txt' or die "routes.txt: $!\n";
while (my $line = <$in>) {
    chomp $line;
    my @f = split('|', $line);
    die "routes.dat line $.: expected 3 fields, found " . scalar(@f) . "\n" unless @f == 3;
    printf {$out} "%-8s via %s (%d)\n", @f;
}
close $out or die;
print "ok\n";
