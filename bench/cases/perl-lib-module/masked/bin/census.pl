open my $o, '>', 'census.txt';
