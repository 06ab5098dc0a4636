#!/usr/bin/perl
use strict;
use warnings;
# How many hosts are in each network?
my %count;
open my $hosts, '<', 'hosts' or die "hosts: $!\n";
while (<$hosts>) {
    chomp;
    my @part = split ".", $_;
    @part == 4 or die "hosts line $.: not an address: $_\n";
    $count{"$part[0].$part[1]"}++;
}
open my $out, '>', 'networks' or die "networks: $!\n";
print {$out} "$_ $count{$_}\n" for sort keys %count;
