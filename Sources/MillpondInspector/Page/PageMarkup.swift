/// The parts of the page that do not depend on the composition.
enum PageMarkup {
  static let text = #"""
    <header>
      <h1 id="title">Millpond</h1>
      <p id="state" class="state" role="status">connecting…</p>
      <button id="pause" type="button" aria-pressed="false">Pause</button>
    </header>
    <noscript><p class="note">This page needs JavaScript, which it brings along.</p></noscript>
    <main>
      <dl id="tiles" class="tiles" aria-label="At a glance"></dl>
      <section id="composition" aria-labelledby="composition-title">
        <h2 id="composition-title">Composition</h2>
        <div id="parts"></div>
      </section>
      <section aria-labelledby="ratio-title">
        <h2 id="ratio-title">Hit ratio, the last two minutes</h2>
        <div class="chart">
          <span class="high" aria-hidden="true">100 %</span>
          <span class="low" aria-hidden="true">0 %</span>
          <svg id="chart" viewBox="0 0 600 120" preserveAspectRatio="none" role="img"
            aria-label="No gets yet"></svg>
        </div>
        <p class="times" aria-hidden="true"><span>two minutes ago</span><span>one</span>
          <span>now</span></p>
        <ul id="legend" class="legend"></ul>
      </section>
      <section aria-labelledby="flights-title">
        <h2 id="flights-title">Flights <span id="flight-count" class="count"></span></h2>
        <p id="no-flights" class="note">No get is under way.</p>
        <ul id="flights" class="rows" aria-labelledby="flights-title" tabindex="0"></ul>
      </section>
      <section aria-labelledby="gets-title">
        <h2 id="gets-title">Latest gets <span id="get-count" class="count"></span></h2>
        <div class="tools">
          <label>Filter by key
            <input id="filter" type="search" autocomplete="off" spellcheck="false"></label>
          <label><input id="rare" type="checkbox"> Without plain hits</label>
          <form id="removal" hidden>
            <label>Remove a key
              <input id="removed-key" required autocomplete="off" spellcheck="false"></label>
            <button>Remove</button>
          </form>
        </div>
        <p id="outcome" class="note" role="status"></p>
        <p id="gets-note" class="note"></p>
        <ol id="gets" class="rows" aria-labelledby="gets-title" tabindex="0"></ol>
      </section>
    </main>
    """#
}
