/// The hit ratio over time, and the figures at a glance.
enum PageScriptChart {
  static let text = #"""
    const span = 120000;
    const recent = 5000;
    const series = new Map();

    // The counters of each layer are kept once a second.
    function takeSamples(part) {
      const counts = part.counters || part.answers;
      if (counts && !part.parts.length) {
        const key = `${part.id} ${part.label}`;
        if (!series.has(key) && series.size < 12) series.set(key, { label: part.label, all: [] });
        const samples = series.get(key);
        if (samples) takeSample(samples.all, counts.hits, counts.misses + (counts.failures || 0));
      }
      part.parts.forEach(takeSamples);
    }

    function takeSample(all, hits, misses) {
      const now = Date.now();
      const before = all[all.length - 1];
      if (before && hits + misses < before.hits + before.misses) all.length = 0;
      if (before && all.length > 1 && now - all[all.length - 2].time < 1000) all.pop();
      all.push({ time: now, hits, misses });
      while (all[0].time < now - span - recent) all.shift();
    }

    // The share of hits in the seconds before a sample; null without gets.
    function ratioAt(all, index) {
      const end = all[index];
      let start = index;
      while (start > 0 && end.time - all[start].time < recent) start -= 1;
      return share(end.hits - all[start].hits, end.misses - all[start].misses);
    }

    function rate(all) {
      const end = all.length - 1;
      let start = end;
      while (start > 0 && all[end].time - all[start].time < recent) start -= 1;
      const time = all[end].time - all[start].time;
      const gets = (sample) => sample.hits + sample.misses;
      return time > 0 ? 1000 * (gets(all[end]) - gets(all[start])) / time : 0;
    }

    const svgNames = "http://www.w3.org/2000/svg";
    const lines = [];

    function draw(tag, attributes) {
      const element = document.createElementNS(svgNames, tag);
      for (const name in attributes) element.setAttribute(name, attributes[name]);
      return element;
    }

    function lineOf(index) {
      if (lines[index]) return lines[index];
      const name = `c${index % 4}`;
      const path = draw("path", { class: name });
      const swatch = draw("svg", { viewBox: "0 0 30 8", "aria-hidden": "true" });
      swatch.append(draw("path", { class: name, d: "M0 4H30" }));
      const item = make("li");
      const text = make("span");
      item.append(swatch, text);
      $("chart").append(path);
      $("legend").append(item);
      return lines[index] = { path, text };
    }

    for (const y of [30, 60, 90]) {
      $("chart").append(draw("line", { x1: 0, x2: 600, y1: y, y2: y }));
    }

    function renderChart() {
      const now = Date.now();
      const words = [];
      let index = 0;
      for (const { label, all } of series.values()) {
        let path = "";
        let isOpen = false;
        all.forEach((sample, place) => {
          const ratio = place ? ratioAt(all, place) : null;
          if (ratio !== null) {
            const x = 600 * (1 - (now - sample.time) / span);
            path += `${isOpen ? "L" : "M"}${x.toFixed(1)} ${(118 - 116 * ratio).toFixed(1)}`;
          }
          isOpen = ratio !== null;
        });
        const line = lineOf(index);
        line.path.setAttribute("d", path);
        const text = `${label} ${percent(ratioAt(all, all.length - 1))}`;
        set(line.text, text);
        words.push(text);
        index += 1;
      }
      $("chart").setAttribute("aria-label", words.length ? words.join(", ") : "No gets yet");
    }

    function renderTiles(state) {
      const first = series.values().next().value;
      const ratio = first ? ratioAt(first.all, first.all.length - 1) : null;
      const values = (part) =>
        (part.count || 0) + part.parts.reduce((sum, inner) => sum + values(inner), 0);
      const tiles = [
        ["Gets a second", first ? number(Math.round(rate(first.all))) : "–"],
        [first ? `Hits, ${first.label}` : "Hits", percent(ratio)],
        ["Flights", number(state.flightCount)],
        ["Values in all layers", number(values(state.part))],
      ];
      const list = $("tiles");
      while (list.children.length < tiles.length) {
        const tile = make("div");
        tile.append(make("dt"), make("dd"));
        list.append(tile);
      }
      tiles.forEach(([name, value], index) => {
        set(list.children[index].children[0], name);
        set(list.children[index].children[1], value);
      });
    }

    """#
}
