# What both tools share: fields of a line, and texts in JSON. Plain awk: mawk, gawk and busybox do.

# Splits a line of CSV into out[1..n] and answers n.
function fields(line, out,    n, at, char, field, quoted) {
    sub(/\r$/, "", line)
    n = 0
    field = ""
    quoted = 0
    for (at = 1; at <= length(line); at++) {
        char = substr(line, at, 1)
        if (quoted) {
            if (char != "\"") field = field char
            else if (substr(line, at + 1, 1) == "\"") { field = field char; at++ }
            else quoted = 0
        } else if (char == "\"") quoted = 1
        else if (char == ",") { out[++n] = field; field = "" }
        else field = field char
    }
    out[++n] = field
    return n
}

# A text in JSON, with its quotes.
function json(text,    at, char, written) {
    written = ""
    for (at = 1; at <= length(text); at++) {
        char = substr(text, at, 1)
        if (char == "\"" || char == "\\") written = written "\\" char
        else if (char == "\t") written = written "\\t"
        else if (char < " ") written = written " "
        else written = written char
    }
    return "\"" written "\""
}

function is_number(text) {
    return text ~ /^-?[0-9]+(\.[0-9]+)?$/
}

# Ends the program with an error that the worker shows.
function fail(message) {
    print "{\"error\": " json(message) "}"
    failed = 1
    exit 1
}
