// What a page must be, measured in it: returns a list of what is wrong, each with where. The argument
// is how many texts there are at least, since a page that shows nothing would be without fault.

const visible = (element) =>
  element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) &&
  element.getClientRects().length > 0;

const named = (element) => {
  const text = (element.id && `#${element.id}`) || `.${element.className}`;
  return `${element.tagName.toLowerCase()}${text}`;
};

function channels(colour) {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  return numbers.length === 4 ? numbers : [...numbers, 1];
}

function over(front, back) {
  const mix = (i) => front[i] * front[3] + back[i] * (1 - front[3]);
  return [mix(0), mix(1), mix(2), 1];
}

function ground(element) {
  if (element === null) return [255, 255, 255, 1];
  const own = channels(getComputedStyle(element).backgroundColor);
  return own[3] === 1 ? own : over(own, ground(element.parentElement));
}

function luminance([red, green, blue]) {
  const linear = (value) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const textsMin = arguments[0];

function wrongText() {
  const wrong = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let looked = 0;
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === "" || !visible(parent)) continue;
    looked += 1;
    const style = getComputedStyle(parent);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const back = ground(parent);
    const ratio = contrast(over(channels(style.color), back), back);
    if (ratio < (large ? 3 : 4.5)) wrong.push(`${named(parent)}: contrast ${ratio.toFixed(2)}`);
  }
  return looked < textsMin ? [`only ${looked} texts`] : wrong;
}

function wrongControls() {
  const wrong = [];
  for (const control of document.querySelectorAll("button, input, textarea, a[href]")) {
    if (!visible(control)) continue;
    const label = control.getAttribute("aria-label") ?? control.labels?.[0]?.innerText ?? "";
    if ((label || control.innerText || "").trim() === "") wrong.push(`${named(control)}: no name`);
    if (control.ariaLabel && !control.ariaLabel.startsWith(control.innerText)) {
      wrong.push(`${named(control)}: is called otherwise than it reads`);
    }
    const { width, height } = control.getBoundingClientRect();
    if (Math.min(width, height) < 24) wrong.push(`${named(control)}: too small to hit`);
    const edge = channels(getComputedStyle(control).borderTopColor);
    const ratio = contrast(over(edge, ground(control)), ground(control.parentElement));
    if (ratio < 3) wrong.push(`${named(control)}: edge ${ratio.toFixed(2)}`);
  }
  return wrong;
}

function wrongLayout() {
  const wrong = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) wrong.push(`scrolls sideways: ${scrollWidth} > ${clientWidth}`);
  for (const element of document.querySelectorAll("body *")) {
    if (!visible(element)) continue;
    const { left, right } = element.getBoundingClientRect();
    if (left < -1 || right > clientWidth + 1) wrong.push(`${named(element)}: beyond the edge`);
    if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline") {
      wrong.push(`${named(element)}: holds more than it shows`);
    }
  }
  return wrong;
}

function wrongStructure() {
  const wrong = [];
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of ids.filter((one, place) => ids.indexOf(one) !== place)) wrong.push(`id ${id} twice`);
  const referring = ["aria-labelledby", "aria-describedby", "aria-controls", "for"];
  for (const attribute of referring) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of element.getAttribute(attribute).split(" ")) {
        if (!ids.includes(id)) wrong.push(`${attribute}: there is no ${id}`);
      }
    }
  }
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    if (!visible(heading)) continue;
    const own = Number(heading.tagName[1]);
    if (own > level + 1) wrong.push(`${named(heading)}: skips a level`);
    level = own;
  }
  return wrong;
}

return [...wrongText(), ...wrongControls(), ...wrongLayout(), ...wrongStructure()];
