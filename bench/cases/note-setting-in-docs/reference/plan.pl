#!/usr/bin/perl
use strict;
use warnings;

my %set;
open my $in, '<', 'station.conf' or die "station.conf: $!\n";
while (<$in>) {
    next if /^\s*(#|$)/;
    my ($key, $value) = /^\s*(\w+)\s*=\s*(.*?)\s*$/ or die "line $.: not a setting\n";
    $set{$key} = $value;
}
close $in;
defined $set{heartbeat} or die "station.conf: no heartbeat\n";
open my $out, '>', 'plan.txt' or die "plan.txt: $!\n";
print $out "every $set{heartbeat} minutes\n";
close $out or die "plan.txt: $!\n";
