#!/usr/bin/perl
use strict;
use warnings;
use FindBin;
use My::Format;
open my $out, '>', "$FindBin::Bin/../report.txt" or die $!;
print $out My::Format::line("total", 7);
