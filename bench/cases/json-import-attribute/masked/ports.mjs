const settings = { services: [] };
import { writeFileSync } from "node:fs";

const ports = settings.services.map((service) => `${service.name}=${service.port}`);
writeFileSync("ports.env", ports.join("\n") + "\n");
