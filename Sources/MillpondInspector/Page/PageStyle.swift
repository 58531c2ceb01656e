/// The style of the page, light and dark, from 320 pixels on.
enum PageStyle {
  static let text = colours + layout + parts + rows + narrow

  private static let colours = #"""
    :root { color-scheme: light dark; --back: #f3f5f8; --card: #fff; --inner: #f8fafc;
      --text: #1c2430; --soft: #566172; --line: #d5dbe3; --bar: #e4e9ef; --field: #8591a2;
      --hit: #12703f; --miss: #7d5700; --failure: #b3261e; --flight: #1a56b0; }
    @media (prefers-color-scheme: dark) {
      :root { --back: #0f1318; --card: #181e26; --inner: #1e2630; --text: #e7ebf1;
        --soft: #a5b0bf; --line: #313b48; --bar: #313b48; --field: #76849a;
        --hit: #62d394; --miss: #e5b551; --failure: #ff9187; --flight: #8fb8ff; } }
    .hit { color: var(--hit); } .miss { color: var(--miss); }
    .failure { color: var(--failure); } .flight { color: var(--flight); }

    """#

  private static let layout = #"""
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    body { margin: 0; background: var(--back); color: var(--text);
      font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
      font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
    header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 4px 14px;
      align-items: center; padding: 10px 20px; background: var(--card);
      border-bottom: 1px solid var(--line); }
    h1 { font-size: 18px; margin: 0; } h2 { font-size: 15px; margin: 0 0 10px; }
    .state { margin: 0; flex: 1; color: var(--soft); min-width: 90px; }
    .state::before { content: "●"; margin-right: 6px; color: var(--field); }
    .state.live::before { color: var(--hit); } .state.lost::before { color: var(--failure); }
    button, input { font: inherit; color: inherit; background: var(--card); min-height: 34px;
      border: 1px solid var(--field); border-radius: 6px; padding: 3px 12px; max-width: 100%; }
    button { cursor: pointer; } button:hover { background: var(--bar); }
    button[aria-pressed="true"] { background: var(--text); color: var(--card); }
    :focus-visible { outline: 3px solid var(--flight); outline-offset: 2px; }
    main { display: grid; gap: 14px; padding: 14px 20px 40px; max-width: 1500px; margin: 0 auto;
      grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); grid-template-rows: auto auto 1fr; }
    #tiles { grid-column: 1 / -1; } #composition { grid-row: 2 / span 2; }
    section:last-child { grid-column: 1 / -1; }
    section, .tiles div { background: var(--card); border: 1px solid var(--line);
      border-radius: 10px; padding: 14px 16px; min-width: 0; }
    .tiles { display: grid; gap: 10px; margin: 0;
      grid-template-columns: repeat(auto-fit, minmax(min(150px, 45%), 1fr)); }
    .tiles div { padding: 8px 14px; }
    dt { color: var(--soft); font-size: 13px; } dd { margin: 0; font-size: 22px; }
    .note, .count { color: var(--soft); font-weight: normal; font-size: 14px; }
    .note { margin: 0 0 8px; } .note:empty { display: none; }
    .tools, form { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: end; }
    .tools { margin-bottom: 10px; } form { gap: 8px; margin: 0; }
    label { display: grid; gap: 2px; font-size: 13px; color: var(--soft); min-width: 0; }
    input { color: var(--text); font-size: 15px; width: 260px; }

    """#

  private static let parts = #"""
    .part { border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px;
      background: var(--inner); }
    .part.layers, .part.choice { background: none; border-style: dashed; }
    .part > .below { display: grid; gap: 0; margin-top: 8px; }
    .part.choice > .below { gap: 8px; }
    .next { color: var(--soft); font-size: 12px; text-align: center; line-height: 1.6; }
    .head { display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: baseline; }
    .head strong { font-size: 15px; }
    .chip { font-size: 12px; color: var(--soft); border: 1px solid var(--line);
      border-radius: 9px; padding: 0 7px; }
    .chip.flying { color: var(--flight); border-color: currentColor; }
    .numbers { font-size: 13px; color: var(--soft); } .numbers b { color: var(--text); }
    .meter { height: 8px; border-radius: 4px; background: var(--bar); margin: 4px 0;
      overflow: hidden; }
    .meter div { height: 100%; width: 0; background: var(--hit); }
    .meter.full div { background: var(--miss); }
    .trims { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 6px; }
    .trims button { font-size: 13px; min-height: 28px; padding: 1px 9px; }
    .chart { position: relative; border: 1px solid var(--line); border-radius: 6px; }
    .chart svg { display: block; width: 100%; height: 170px; }
    .chart path { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
    .chart line { stroke: var(--line); vector-effect: non-scaling-stroke; }
    .chart span { position: absolute; left: 6px; font-size: 11px; color: var(--soft); }
    .high { top: 2px; } .low { bottom: 2px; }
    .times { display: flex; justify-content: space-between; margin: 2px 0 0; font-size: 11px;
      color: var(--soft); }
    input[type="checkbox"] { width: auto; min-height: 0; }
    .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; padding: 0;
      margin: 8px 0 0; font-size: 13px; }
    .legend svg { width: 30px; height: 8px; margin-right: 6px; }
    .legend path { stroke-width: 2; }
    .c0 { stroke: var(--hit); } .c1 { stroke: var(--flight); stroke-dasharray: 7 4; }
    .c2 { stroke: var(--miss); stroke-dasharray: 2 3; }
    .c3 { stroke: var(--failure); stroke-dasharray: 9 3 2 3; }
    @media (prefers-reduced-motion: no-preference) {
      .meter div { transition: width 0.2s linear; } }

    """#

  private static let rows = #"""
    .rows { list-style: none; margin: 0; padding: 0; max-height: 480px; overflow: auto;
      overflow-anchor: none; font-size: 14px; }
    .rows li { display: grid; grid-template-columns: 74px minmax(0, 1fr) auto; gap: 0 12px;
      align-items: start; padding: 5px 2px; border-top: 1px solid var(--line); }
    .rows li:first-child { border-top: 0; }
    .rows time { color: var(--soft); font-size: 13px; }
    .key { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
      font-size: 13px; display: block; }
    .steps { color: var(--soft); } .steps b { font-weight: 600; color: var(--text); }
    .rows button { font-size: 12px; min-height: 26px; padding: 0 8px; }
    #flights { max-height: 250px; }

    """#

  private static let narrow = #"""
    @media (max-width: 800px) {
      main { grid-template-columns: minmax(0, 1fr); padding: 10px; }
      #composition { grid-row: auto; }
      header { padding: 8px 12px; } section { padding: 10px; } }
    @media (max-width: 480px) {
      h1 { flex: 1; } .state { order: 1; flex: 1 0 100%; }
      .part { padding: 6px 8px; } input { width: 100%; } .tools > *, label { width: 100%; }
      form label { flex: 1; width: auto; } .rows { max-height: 70vh; }
      .rows li { grid-template-columns: minmax(0, 1fr) auto; }
      .rows li > div { grid-column: 1 / -1; grid-row: 2; } .chart svg { height: 120px; } dd { font-size: 18px; } }
    """#
}
