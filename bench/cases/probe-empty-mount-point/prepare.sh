mkdir -p media/card
