export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main up && (cd up && echo one > rules.txt && git add . && git commit -q -m one)
git clone -q up checkout; git -C checkout remote set-url origin ../up
(cd up && echo two > rules.txt && git commit -q -am two); echo "local work" > checkout/rules.txt
