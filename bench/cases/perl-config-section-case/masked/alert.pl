#!/usr/bin/perl
use strict;
use warnings;
# read "key: value" settings and write the alert text
my %set;
open my $in, '<', 'alert.conf' or die "alert.conf: $!\n";
while (<$in>) { next if /^#|^\s*$/; chomp; my ($k, $v) = split /:\s*/, $_, 2; $set{$k} = $v }
for my $need (qw(threshold)) { die "alert.conf: $need is missing\n" unless exists $set{$need} }
open my $out, '>', 'alert.txt' or die $!;
print {$out} "To: nobody\nabove $set{threshold}\n";
