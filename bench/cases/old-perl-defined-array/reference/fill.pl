#!/usr/bin/perl
use strict;
use warnings;
# One line per waiting order.
my @rows;
open(my $in, '<', 'orders.txt') or die "orders.txt: $!";
while (<$in>) { chomp; push @rows, $_ if /^open /; }
die "no open orders\n" unless @rows;
open(my $out, '>', 'open.txt') or die "open.txt: $!";
print $out "$_\n" for sort @rows;
close($out) or die;
