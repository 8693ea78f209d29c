// Opens a report in Chromium and prints as JSON what it found: `node examine.mjs TOOLS FILE`.
// TOOLS has node_modules with playwright-core and axe-core. The page's own policy stays in force.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [tools, file] = process.argv.slice(2);
const require = createRequire(`${tools}/package.json`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const address = pathToFileURL(file).href;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox"], // CI is root, for which Chromium has no sandbox; the page is ours
});
const found = { views: {}, requests: [], complaints: [] };

async function open(options) {
  const page = await browser.newPage(options);
  page.on("request", (each) => found.requests.push(each.url()));
  page.on("console", (each) => found.complaints.push(each.text()));
  page.on("pageerror", (each) => found.complaints.push(String(each)));
  await page.goto(address);
  return page;
}

for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 1280]) {
    const page = await open({ colorScheme, viewport: { width, height: 900 } });
    const unfolded = await page.evaluate(() => {
      document.querySelectorAll("details").forEach((each) => each.setAttribute("open", ""));
      return document.documentElement.scrollWidth;
    });
    await page.evaluate(axe);
    const judged = await page.evaluate(() => axe.run());
    found.views[`${colorScheme} ${width}`] = {
      width: unfolded,
      violations: judged.violations.map((each) => `${each.id}: ${each.nodes[0].html}`),
      passes: judged.passes.length,
      background: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    };
    await page.close();
  }
}

const page = await open({ viewport: { width: 1280, height: 900 } });
const column = () =>
  page.$$eval("#teams tbody tr:not([hidden]) th", (cells) => cells.map((each) => each.textContent.trim()));

found.sorted = { before: await column() };
for (const order of ["ascending", "descending"]) {
  await page.focus("#teams thead th:nth-child(1) button");
  await page.keyboard.press("Enter");
  found.sorted[order] = await column();
  found.sorted[`${order} head`] = await page.getAttribute("#teams thead th:nth-child(1)", "aria-sort");
}
const folded = page.locator("#coverage details:has(input)").first();
await folded.evaluate((each) => each.setAttribute("open", ""));
const rows = folded.locator("tbody tr");
found.filtered = { word: "RoleBinding", rows: await rows.count() };
await folded.locator("input[type=search]").fill("rolebinding");
const kept = folded.locator("tbody tr:not([hidden])");
found.filtered.shown = await kept.count();
found.filtered.texts = await kept.allTextContents();
found.filtered.count = await folded.locator("output").textContent();
found.injected = await page.evaluate(() => {
  const script = document.createElement("script");
  script.textContent = "window.injected = true";
  document.body.append(script);
  const styled = document.createElement("p");
  styled.innerHTML = '<span style="color: rgb(1, 2, 3)">x</span>';
  document.body.append(styled);
  return { script: "injected" in window, style: getComputedStyle(styled.firstChild).color === "rgb(1, 2, 3)" };
});
found.refused = found.complaints.splice(0).filter((each) => /Content Security Policy/.test(each)).length;
await page.evaluate(() => addEventListener("beforeprint", () => {
  window.foldedOnPaper = document.querySelectorAll("details:not([open])").length;
}));
found.printed = { bytes: (await page.pdf({ format: "A4" })).length };
found.printed.folded = await page.evaluate(() => window.foldedOnPaper);
await page.close();

const still = await browser.newContext({ javaScriptEnabled: false });
const plain = await still.newPage();
await plain.goto(address);
found.withoutScript = {
  buttons: await plain.locator("button, input").count(),
  teams: await plain.locator("#teams tbody tr").count(),
};
await browser.close();
console.log(JSON.stringify(found));
