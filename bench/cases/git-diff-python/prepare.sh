export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main up && (cd up && echo one > f && git add f && git commit -q -m one && echo two > f && git commit -q -am two)
cd up && git checkout -q -b topic && echo x > f && git commit -q -am x
