module apimesh/tools/descriptions

go 1.21
