// Reads calendars with ical.js: takes a JSON list of texts, prints a list of events for each.

import { readFileSync } from "node:fs";
import ICAL from "ical.js";

function moment(time) {
  return time.isDate ? time.toString() : time.toJSDate().toISOString().replace(".000Z", "Z");
}

function read(text) {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents("vevent").map((component) => {
    const event = new ICAL.Event(component, { strictExceptions: true });
    return {
      uid: event.uid,
      sequence: event.sequence,
      summary: event.summary,
      status: component.getFirstPropertyValue("status"),
      transparency: component.getFirstPropertyValue("transp"),
      categories: component.getFirstProperty("categories").getValues(),
      starts: moment(event.startDate),
      ends: moment(event.endDate),
    };
  });
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(read)));
