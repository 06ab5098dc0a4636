server @HOST@
