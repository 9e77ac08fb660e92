# One row of a Markdown table for a part: its name, its rows, and the sum of every column that holds numbers alone.

NR == 1 { count = fields($0, names); next }

{
    fields($0, values)
    rows++
    for (i = 1; i <= count; i++) {
        if (is_number(values[i])) sum[i] += values[i]
        else mixed[i] = 1
    }
}

END {
    sums = ""
    for (i = 1; i <= count; i++) if (rows && !mixed[i]) sums = sums (sums == "" ? "" : ", ") names[i] " " sum[i]
    printf "| %s | %d | %s |\n", ENVIRON["NAME"], rows, sums
}
