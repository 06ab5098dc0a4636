import { readFileSync, writeFileSync } from "fs";

const lang = readFileSync("lang", "utf8").trim();
const { default: words } = await import("./words.json", { with: { type: "json" } });
const names = (await import("./names.json", { with: { type: "json" } })).default;
writeFileSync("greeting.txt", `${words[lang]}, ${names.join(" and ")}\n`);
