/// The lists of flights and of the latest gets.
enum PageScriptRows {
  static let text = #"""
    const keptGets = 1000;
    const shownRows = 200;
    let gets = [];

    function takeGets(state) {
      const now = Date.now();
      for (const get of state.gets) {
        get.time = new Date(now - get.ago);
        gets.push(get);
      }
      if (gets.length > keptGets) gets = gets.slice(-keptGets);
    }

    const wanted = () => $("filter").value.toLowerCase();
    const matches = (key, text) => !text || (key || "").toLowerCase().includes(text);

    // A value that no layer had to look for further down says little.
    const isPlainHit = (get) =>
      get.tone === "hit" && get.steps.every((step) => step.tone === "hit");

    function removeButton(row, key, isWhole) {
      if (!key || !isWhole || !last.permissions.includes("removing")) return;
      const button = make("button", "", "Remove");
      button.type = "button";
      button.setAttribute("aria-label", `Remove ${key}`);
      button.addEventListener("click", () => removeKey(key));
      row.append(button);
    }

    function keyOf(key) {
      const element = make("bdi", "key", key === undefined ? "(all keys)" : key);
      if (key === "") element.textContent = "(empty)";
      return element;
    }

    function drawGet(get) {
      const row = make("li");
      const time = make("time", "", get.time.toTimeString().slice(0, 8));
      time.dateTime = get.time.toISOString();
      const body = make("div");
      const steps = make("div", "steps");
      get.steps.forEach((step, index) => {
        if (index) steps.append(", ");
        steps.append(make("b", "", `${step.layer}: `), make("span", step.tone, step.words));
      });
      if (get.end) steps.append(get.steps.length ? " → " : "", make("span", get.tone, get.end));
      body.append(keyOf(get.key), steps);
      row.append(time, body);
      removeButton(row, get.key, get.isWhole);
      return row;
    }

    // The list stands still under a pointer, and while the keyboard is in it. A click on the list
    // itself does not hold it.
    const isHeld = (list) => list.matches(":hover, :focus-visible")
      || (document.activeElement !== list && list.contains(document.activeElement));

    function renderGets(state, isAsked) {
      const list = $("gets");
      const held = !isAsked && list.children.length > 0 && isHeld(list);
      const text = wanted();
      const isRare = $("rare").checked;
      const all = gets.filter((get) => matches(get.key, text) && !(isRare && isPlainHit(get)));
      set($("get-count"), state.isMonitored
        ? `${number(state.getCount)}${text || isRare ? `; ${number(all.length)} match` : ""}` : "");
      set($("gets-note"), !state.isMonitored
        ? "Gets are shown for a composition with .monitored(by: CacheMonitor(active: "
          + ".whileObserved))."
        : held ? "The list stands still while you point at it or it has the focus." : "");
      if (held) return;
      const rows = all.slice(-shownRows).reverse();
      for (const get of rows) get.row = get.row || drawGet(get);
      arrange(list, rows.map((get) => get.row));
    }

    const flightRows = new Map();

    function drawFlight(flight) {
      const row = make("li");
      const age = make("time");
      const body = make("div");
      const words = make("div", "steps");
      body.append(keyOf(flight.key), words);
      row.append(age, body);
      removeButton(row, flight.key, flight.isWhole);
      return { row, age, words };
    }

    function renderFlights(state) {
      const text = wanted();
      const used = new Set();
      const rows = [];
      for (const flight of state.flights) {
        const id = `${flight.layer} ${flight.key}`;
        if (!matches(flight.key, text) || used.has(id)) continue;
        used.add(id);
        if (!flightRows.has(id)) flightRows.set(id, drawFlight(flight));
        const view = flightRows.get(id);
        set(view.age, flight.age);
        set(view.words, `${flight.layer}: ${flight.callers} `
          + `${flight.callers === 1 ? "caller" : "callers"}, ${flight.priority} priority`
          + (flight.place ? `, from ${flight.place}` : ""));
        rows.push(view.row);
      }
      for (const id of [...flightRows.keys()]) if (!used.has(id)) flightRows.delete(id);
      arrange($("flights"), rows);
      $("no-flights").hidden = state.flightCount > 0;
      set($("flight-count"), state.flightCount > state.flights.length
        ? `${number(state.flightCount)}, of which the oldest ${state.flights.length}`
        : state.flightCount ? number(state.flightCount) : "");
    }

    """#
}
