database @HOST@
