/// The composition as nested boxes.
enum PageScriptParts {
  static let text = #"""
    const boxes = new Map();
    let shape = "";

    // A change of this text makes a new drawing necessary; numbers only change words in it.
    const shapeOf = (part) =>
      JSON.stringify([part.role, part.label, part.titles, part.canTrim, part.parts.map(shapeOf)]);

    function renderParts(root) {
      const now = shapeOf(root);
      if (now !== shape) {
        shape = now;
        boxes.clear();
        $("parts").replaceChildren(drawPart(root));
      }
      fillPart(root);
    }

    function drawPart(part) {
      const isGroup = part.parts.length > 0;
      const box = make("div", `part ${part.role}`);
      const view = { box, lines: [] };
      const head = make("div", "head");
      const own = part.titles[part.titles.length - 1];
      if (!isGroup) head.append(make("strong", "", part.label));
      for (const title of part.titles) {
        if (!isGroup && title === part.label) continue;
        if (isGroup && title === own && part.titles.length > 1) continue;
        head.append(make("span", "chip", title));
      }
      view.flights = make("span", "chip flying");
      head.append(view.flights);
      view.size = make("div", "numbers");
      view.meter = make("div", "meter");
      view.fill = make("div");
      view.meter.append(view.fill);
      view.meter.setAttribute("role", "meter");
      view.meter.setAttribute("aria-valuemin", "0");
      view.meter.setAttribute("aria-valuemax", "100");
      view.meter.setAttribute("aria-label", `${part.label}: share of the limit`);
      view.counters = make("div", "numbers");
      view.more = make("div", "numbers");
      view.server = make("div", "numbers");
      view.answers = make("div", "numbers");
      box.append(head, view.size, view.meter, view.counters, view.more);
      box.append(view.server, view.answers);
      if (part.canTrim) box.append(drawTrims(part));
      if (isGroup) {
        const below = make("div", "below");
        part.parts.forEach((inner, index) => {
          if (index && part.role === "layers") {
            below.append(make("div", "next", "↓ on a miss"));
          }
          below.append(drawPart(inner));
        });
        box.append(below);
      }
      boxes.set(part.id, view);
      return box;
    }

    function drawTrims(part) {
      const trims = make("div", "trims");
      for (const [share, text] of [[0.5, "Trim to a half"], [0, "Empty"]]) {
        const button = make("button", "", text);
        button.type = "button";
        button.setAttribute("aria-label", `${text}: ${part.label}`);
        button.addEventListener("click", () =>
          act("trim", { part: part.id, share }, `${text}, ${part.label}`));
        trims.append(button);
      }
      return trims;
    }

    function fillPart(part) {
      const view = boxes.get(part.id);
      view.flights.hidden = part.flightCount === 0;
      set(view.flights, part.flightCount === 1 ? "1 flight" : `${number(part.flightCount)} flights`);
      fillSize(part, view);
      const counters = part.counters;
      const ratio = counters ? share(counters.hits, counters.misses) : null;
      set(view.counters, counters ? `${percent(ratio)} hits: ${number(counters.hits)} hits, `
        + `${number(counters.misses)} misses` : "");
      set(view.more, counters ? `${number(counters.insertions)} stored, `
        + `${number(counters.rejections)} rejected, ${number(counters.evictions)} evicted, `
        + `${number(counters.expirations)} expired` : "");
      set(view.server, part.server || "");
      set(view.answers, part.answers ? describeAnswers(part.answers) : "");
      part.parts.forEach(fillPart);
    }

    const share = (hits, misses) => hits + misses === 0 ? null : hits / (hits + misses);

    // A number and its unit stay on one line.
    const unbroken = (text) => text.replaceAll(" ", "\u00a0");

    function describeAnswers(answers) {
      const all = answers.hits + answers.misses + answers.failures;
      const failed = answers.failures ? `, ${number(answers.failures)} failed` : "";
      const refused = answers.refusals ? `, ${number(answers.refusals)} refused` : "";
      const joined = answers.joins ? `, ${number(answers.joins)} joined` : "";
      const times = answers.median
        ? `; half within ${unbroken(answers.median)}, 99\u00a0% within ${unbroken(answers.slow)}`
        : "";
      return `Since this page was opened: ${number(answers.hits)} values in ${number(all)} `
        + (all === 1 ? "finished get" : "finished gets")
        + failed + refused + joined + times;
    }

    function fillSize(part, view) {
      const limits = part.counters || {};
      const ofCost = part.cost !== undefined && limits.costLimit !== undefined;
      const limit = ofCost ? limits.costLimit : limits.countLimit;
      const used = ofCost ? part.cost : part.count;
      const amount = limits.isInBytes ? bytes : number;
      let text = part.count === undefined ? "" :
        part.count === 1 ? "1 value" : `${number(part.count)} values`;
      if (part.cost !== undefined) {
        text += limits.isInBytes ? `, ${bytes(part.cost)}` : `, cost ${amount(part.cost)}`;
      }
      if (limit !== undefined && text) text += ` of ${ofCost ? amount(limit) : number(limit)}`;
      set(view.size, text);
      const full = limit > 0 ? Math.min(1, used / limit) : null;
      view.meter.hidden = full === null;
      if (full === null) return;
      view.fill.style.width = `${100 * full}%`;
      view.meter.classList.toggle("full", full > 0.9);
      view.meter.setAttribute("aria-valuenow", String(Math.round(100 * full)));
      view.meter.setAttribute("aria-valuetext", text);
    }

    """#
}
