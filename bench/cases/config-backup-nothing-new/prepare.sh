mkdir repo && cd repo && git init -q . && cp ../etc/app.conf . && git add -A && git -c user.name=k -c user.email=k@l commit -qm first
