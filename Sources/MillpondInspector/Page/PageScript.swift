/// The script of the page.
///
/// Keys, names and errors come from outside, and are only ever set as text.
enum PageScript {
  static let text =
    tools + PageScriptParts.text + PageScriptChart.text + PageScriptRows.text + frame

  private static let tools = #"""
    const $ = (id) => document.getElementById(id);

    function make(tag, name, text) {
      const element = document.createElement(tag);
      if (name) element.className = name;
      if (text !== undefined) element.textContent = text;
      return element;
    }

    function set(element, text) {
      if (element.textContent !== text) element.textContent = text;
    }

    // Makes the children of a list those given, and moves none that stays: focus is kept.
    function arrange(list, children) {
      const staying = new Set(children);
      for (const child of [...list.children]) if (!staying.has(child)) child.remove();
      let place = list.firstChild;
      for (const child of children) {
        if (child === place) place = place.nextSibling;
        else list.insertBefore(child, place);
      }
    }

    const number = (value) => value.toLocaleString("en-US");
    const percent = (share) => share === null ? "–" : `${(100 * share).toFixed(1)}\u00a0%`;

    function bytes(count) {
      const units = ["B", "KiB", "MiB", "GiB", "TiB"];
      let place = 0;
      while (count >= 1024 && place < units.length - 1) { count /= 1024; place += 1; }
      return `${place && count < 100 ? count.toFixed(1) : Math.round(count)} ${units[place]}`;
    }

    const say = (text) => { $("outcome").textContent = text; };

    async function act(path, wish, what) {
      say(`${what}…`);
      try {
        const answer = await fetch(path, { method: "POST", body: JSON.stringify(wish) });
        if (!answer.ok) return say(`${what}: refused (${answer.status})`);
        const outcome = await answer.json();
        say(`${what}: ${outcome.words}`);
      } catch (error) {
        say(`${what}: no answer`);
      }
    }

    const removeKey = (key) => act("remove", { key }, `Remove ${key}`);

    """#

  private static let frame = #"""
    let last = null;
    let isPaused = false;

    function render() {
      if (!last || isPaused) return;
      set($("title"), last.title);
      document.title = `${last.title} – inspector`;
      $("removal").hidden = !last.permissions.includes("removing");
      renderParts(last.part);
      renderChart();
      renderTiles(last);
      renderFlights(last);
      renderGets(last);
    }

    function show(state, name) {
      set($("state"), state);
      $("state").className = `state ${name}`;
    }

    function showState() {
      if (isPaused) show("paused", "");
      else show("live", "live");
    }

    function connect() {
      const events = new EventSource("events");
      events.onmessage = (event) => {
        last = JSON.parse(event.data);
        takeGets(last);
        takeSamples(last.part);
        showState();
        render();
      };
      events.onerror = () => {
        show("not connected: the program has ended, or too many pages are open", "lost");
        if (events.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
      };
    }

    $("pause").addEventListener("click", () => {
      isPaused = !isPaused;
      $("pause").setAttribute("aria-pressed", String(isPaused));
      if (last) showState();
      render();
    });
    $("filter").addEventListener("input", () => {
      if (!last) return;
      renderFlights(last);
      renderGets(last, true);
    });
    $("rare").addEventListener("change", () => {
      if (last) renderGets(last, true);
    });
    $("removal").addEventListener("submit", (event) => {
      event.preventDefault();
      removeKey($("removed-key").value);
    });
    connect();
    """#
}
