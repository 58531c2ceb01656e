extension ReportPage {
  /// The style of the page, light and dark, from 320 pixels on.
  static let style = #"""
    :root { color-scheme: light dark; --soft: light-dark(#566172, #a5b0bf);
      --line: light-dark(#d5dbe3, #313b48); --back: light-dark(#fff, #181e26);
      --met: light-dark(#12703f, #62d394); --missed: light-dark(#7d5700, #e5b551);
      --wrong: light-dark(#b3261e, #ff9187); --bar: light-dark(#0969da, #58a6ff); }
    body { margin: 0 auto; max-width: 1200px; padding: 20px; background: var(--back);
      font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
    h2 { margin: 24px 0 0; } p { margin: 0 0 10px; } .finding { font-size: 18px; }
    small, thead th { color: var(--soft); font-size: 13px; font-weight: normal; }
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; font-size: 13px; overflow-wrap: normal; }
    th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line);
      vertical-align: top; white-space: nowrap; }
    tbody th { white-space: normal; min-width: 170px; } th small { display: block; }
    th:last-child { min-width: 130px; } .number { text-align: right; }
    i { display: block; height: 11px; margin-top: 5px; background: var(--bar); }
    .met { color: var(--met); } .missed { color: var(--missed); font-weight: 600; }
    .wrong { color: var(--wrong); font-weight: 700; }
    """#
}
