import { readFileSync, writeFileSync } from "fs";

const lang = readFileSync("lang", "utf8").trim();
const { default: words } = await import("./words.json");
const names = (await import("./names.json")).default;
writeFileSync("greeting.txt", `${words[lang]}, ${names.join(" and ")}\n`);
