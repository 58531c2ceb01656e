/// The style of the page, light and dark, from 320 pixels on.
enum ReportStyle {
  static let text = #"""
    :root { color-scheme: light dark; --back: #f3f5f8; --card: #fff; --text: #1c2430;
      --soft: #566172; --line: #d5dbe3; --met: #12703f; --bad: #7d5700; --wrong: #b3261e;
      --bar: #0969da; }
    @media (prefers-color-scheme: dark) {
      :root { --back: #0f1318; --card: #181e26; --text: #e7ebf1; --soft: #a5b0bf;
        --line: #313b48; --met: #62d394; --bad: #e5b551; --wrong: #ff9187; --bar: #58a6ff; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 1200px; padding: 20px; background: var(--back);
      color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans",
      sans-serif; overflow-wrap: anywhere; }
    h1 { font-size: 24px; margin: 0 0 12px; } h2 { font-size: 18px; margin: 0 0 4px; }
    p { margin: 0 0 10px; } small { color: var(--soft); font-size: 13px; }
    code { font: 13px/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    dl { display: grid; gap: 8px; margin: 0 0 14px;
      grid-template-columns: repeat(auto-fit, minmax(min(230px, 100%), 1fr)); }
    dt { color: var(--soft); font-size: 13px; } dd { margin: 0; }
    nav ul { list-style: none; padding: 0; margin: 0 0 20px; display: grid; gap: 4px 20px;
      grid-template-columns: repeat(auto-fit, minmax(min(330px, 100%), 1fr)); }
    a { color: inherit; } :focus-visible { outline: 3px solid var(--bar); }
    section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
      padding: 16px; margin: 0 0 16px; }
    .wide { overflow-x: auto; } .finding { font-size: 17px; }
    .bar { min-width: 130px; padding-right: 0; }
    .bar i { display: block; height: 11px; margin-top: 5px; background: var(--bar);
      border-radius: 2px; }
    table { border-collapse: collapse; width: 100%; font-size: 13px;
      font-variant-numeric: tabular-nums; overflow-wrap: normal; }
    th, td { text-align: left; padding: 4px 10px 4px 0; border-top: 1px solid var(--line);
      vertical-align: top; white-space: nowrap; }
    thead th { border-top: 0; color: var(--soft); font-weight: normal; }
    tbody th { font-weight: 600; white-space: normal; min-width: 170px; }
    th:first-child { position: sticky; left: 0; background: var(--card); }
    tbody th small { display: block; font-weight: normal; font-size: 12px; line-height: 1.35; }
    .number { text-align: right; }
    .met { color: var(--met); } .missed { color: var(--bad); font-weight: 600; }
    .wrong { color: var(--wrong); font-weight: 700; }
    @media (max-width: 600px) {
      body { padding: 10px; } section { padding: 10px; } tbody th { min-width: 140px; } }
    """#
}
