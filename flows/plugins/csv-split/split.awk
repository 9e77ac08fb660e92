# Writes a file for each value of the column COLUMN into FOLDER, and prints what it wrote.

NR == 1 {
    header = $0
    sub(/\r$/, "", header)
    count = fields($0, names)
    for (i = 1; i <= count; i++) if (names[i] == ENVIRON["COLUMN"]) column = i
    if (!column) fail("the header has no column `" ENVIRON["COLUMN"] "`: " header)
    next
}

/^\r?$/ { next }

{
    delete values
    fields($0, values)
    value = values[column]
    if (!(value in part)) { part[value] = ++parts; value_of[parts] = value }
    line = $0
    sub(/\r$/, "", line)
    rows[part[value]]++
    text[part[value]] = text[part[value]] line "\n"
    total++
}

END {
    if (failed) exit 1
    if (!column) fail("the table is empty")
    printf "{\"parts\": ["
    for (i = 1; i <= parts; i++) {
        safe = value_of[i]
        gsub(/[^A-Za-z0-9_-]+/, "_", safe)
        file = ENVIRON["FOLDER"] "/" sprintf("%02d-%s.csv", i, substr(safe, 1, 60))
        printf "%s\n%s", header, text[i] > file
        close(file)
        printf "%s{\"value\": %s, \"file\": %s, \"rows\": %d}", (i > 1 ? ", " : ""), json(value_of[i]), json(file), rows[i]
    }
    printf "], \"rows\": %d}\n", total
}
