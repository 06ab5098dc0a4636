#!/usr/bin/perl
# The highest water of each harbour from the office's table (tides.dat): HARBOUR|TIME|METRES
use strict;
use warnings;

open my $table, '<', 'tides.dat' or die "tides: tides.dat: $!\n";
my %top;
while (my $line = <$table>) {
    next if $. == 1;
    $line =~ s/\s+$//;
    my ($harbour, $time, $metres) = split /\|/, $line;
    next unless defined $metres && $metres =~ /^\d+(?:\.\d+)?$/;
    $top{$harbour} = $metres if !exists $top{$harbour} || $metres > $top{$harbour};
}
open my $out, '>', 'top.txt' or die "tides: top.txt: $!\n";
print {$out} "$_ $top{$_}\n" for sort keys %top;
close $out or die "tides: top.txt: $!\n";
