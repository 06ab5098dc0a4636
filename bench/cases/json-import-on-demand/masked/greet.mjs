import { writeFileSync } from "fs";
writeFileSync("greeting.txt", "");
