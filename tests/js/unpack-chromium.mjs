// Unpacks the Chromium that a package carries, with the libraries and fonts it brings along, into
// the folder that is named, and prints where the program is.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
// The package unpacks into the folder for temporary files, and brings its libraries along only
// where it believes to be at home.
process.env.TMPDIR = folder;
process.env.AWS_EXECUTION_ENV = `AWS_Lambda_nodejs${process.versions.node.split(".")[0]}.x`;
const { default: chromium } = await import("@sparticuz/chromium");
const program = await chromium.executablePath();
// Its own list of folders names those of another machine.
writeFileSync(
  join(folder, "fonts", "fonts.conf"),
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}/fonts` +
    `</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
);
console.log(program);
