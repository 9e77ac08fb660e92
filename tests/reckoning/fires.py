"""Reckons when rules come round, by Python's zoneinfo: what the worker's own reckoning is held against.

Reads {"from": s, "until": s, "zones": [...], "rules": [{"calendar": {...}} | {"cron": "..."}]} (seconds since 1970,
both on a quarter of an hour) on standard input and writes {zone: [[seconds, ...] for each rule]}. It walks all days,
or all quarters of an hour, and shares no idea with the worker but the rules of the documentation.
"""

import calendar
import datetime
import json
import sys
import zoneinfo

MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()
QUARTER = 15 * 60


def value(text, names, least):
    return names.index(text.lower()) + least if text.lower() in names else int(text)


def field(text, least, most, names=()):
    chosen = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = least, most
        elif "-" in span:
            first, last = (value(end, names, least) for end in span.split("-"))
            if last == 0 and first > 0:
                last = 7
        else:
            first = value(span, names, least)
            last = most if step else first
        chosen.update(range(first, last + 1, int(step or 1)))
    return chosen


class Rule:
    def __init__(self, rule):
        self.elapsed = False
        if "cron" in rule:
            minute, hour, day, month, weekday = MACROS.get(rule["cron"], rule["cron"]).split()
            self.minutes, self.hours = field(minute, 0, 59), field(hour, 0, 23)
            self.elapsed = "*" in hour or "/" in hour
            days, months = field(day, 1, 31), field(month, 1, 12, MONTHS)
            weekdays = {number % 7 for number in field(weekday, 0, 7, WEEKDAYS)}
            either = not day.startswith("*") and not weekday.startswith("*")

            def is_day(date):
                in_days, in_week = date.day in days, date.isoweekday() % 7 in weekdays
                return date.month in months and ((in_days or in_week) if either else (in_days and in_week))
        else:
            said = rule["calendar"]
            hour, minute = (int(part) for part in said.get("time", "09:00").split(":"))
            self.minutes, self.hours = {minute}, {hour}
            frequency = said.get("frequency", "daily")

            def is_day(date):
                if frequency == "daily":
                    return True
                if frequency == "weekly":
                    return date.isoweekday() in said["weekdays"]
                length = calendar.monthrange(date.year, date.month)[1]
                return date.day == (length if said["monthDay"] == "last" else min(said["monthDay"], length))
        self.is_day = is_day


def by_calendar(rule, zone, start, end):
    """Each wall-clock time once; with fold=0 Python moves skipped ones by the gap and takes doubled ones first."""
    moments = set()
    day = datetime.datetime.fromtimestamp(start, zone).date() - datetime.timedelta(days=2)
    last = datetime.datetime.fromtimestamp(end, zone).date() + datetime.timedelta(days=2)
    while day <= last:
        if rule.is_day(day):
            for hour in rule.hours:
                for minute in rule.minutes:
                    time = datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                    moments.add(int(time.timestamp()))
        day += datetime.timedelta(days=1)
    return sorted(moment for moment in moments if start < moment < end)


def by_elapsed_time(rules, zone, start, end):
    """What the clock shows, a quarter of an hour at a time: no zone here changes its clock within one."""
    moments = [[] for _ in rules]
    for quarter in range(start, end, QUARTER):
        shown = datetime.datetime.fromtimestamp(quarter, zone)
        for found, rule in zip(moments, rules):
            if shown.hour in rule.hours and rule.is_day(shown):
                within = range(shown.minute, shown.minute + 15)
                found.extend(quarter + (at - shown.minute) * 60 for at in within if at in rule.minutes)
    return [[moment for moment in found if start < moment < end] for found in moments]


def main():
    asked = json.load(sys.stdin)
    rules = [Rule(rule) for rule in asked["rules"]]
    answer = {}
    for name in asked["zones"]:
        zone = zoneinfo.ZoneInfo(name)
        elapsed = iter(by_elapsed_time([rule for rule in rules if rule.elapsed], zone, asked["from"], asked["until"]))
        answer[name] = [
            next(elapsed) if rule.elapsed else by_calendar(rule, zone, asked["from"], asked["until"]) for rule in rules
        ]
    json.dump(answer, sys.stdout)


main()
