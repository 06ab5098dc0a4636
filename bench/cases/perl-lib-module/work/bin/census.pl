#!/usr/bin/perl
use strict;
use warnings;
use Census::Count qw(count);

my %n = count('people.txt');
open my $out, '>', 'census.txt' or die "census: $!\n";
printf $out "%s=%d\n", $_, $n{$_} for sort keys %n;
close $out or die;
