set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=k GIT_AUTHOR_EMAIL=k@example.org GIT_COMMITTER_NAME=k GIT_COMMITTER_EMAIL=k@example.org
git init -q seed && git -C seed symbolic-ref HEAD refs/heads/main
mkdir seed/recipes && echo onion > seed/recipes/soup.txt && git -C seed add . && git -C seed commit -qm first
git -C seed branch winter
echo leek > seed/recipes/soup.txt && git -C seed add . && git -C seed commit -qm second
git clone -q --bare seed kitchen.git
rm -rf seed
