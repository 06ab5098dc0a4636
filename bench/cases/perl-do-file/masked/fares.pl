#!/usr/bin/perl
use strict;
use warnings;

our %fare;
do 'fares.conf' ;
open my $out, '>', 'fares.txt' or die $!;
print $out "$_ $fare{$_}\n" for sort keys %fare;
close $out;
