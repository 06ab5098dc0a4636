mkdir site && cd site && git init -q . && printf 'hello\n' > index.html && git add -A && git -c user.name=k -c user.email=k@l commit -qm first
