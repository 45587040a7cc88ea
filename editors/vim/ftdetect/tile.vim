" Files of the Tile language.
autocmd BufRead,BufNewFile *.tile setfiletype tile
