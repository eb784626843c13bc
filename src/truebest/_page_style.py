"""How the pages that commands write look: one column, light or dark as the reader's system is, any width."""

STYLE = """
:root { --back: #fff; --text: #1d2024; --faint: #5b6470; --line: #dfe3e8; --soft: #f3f5f7;
  --sure: #2e7d4f; --open: #b45f06; --bad: #b3261e; --count: #4c8fbd; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --back: #15181c; --text: #e6e9ed; --faint: #9aa4b0;
  --line: #343a42; --soft: #1f242a; --sure: #5cbf86; --open: #e0a04a; --bad: #ff8a80; --count: #6fb1de; } }
* { box-sizing: border-box; }
body { background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif;
  max-width: 56rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .2rem 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
header p { margin: 0; } .lead { font-size: 1.1rem; }
.faint, figcaption, dt { color: var(--faint); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem;
  margin: 1.6rem 0; }
.tiles > div { background: var(--soft); border-radius: .5rem; padding: .8rem 1rem; }
dt { font-size: .85rem; } dd { margin: 0; font-size: 1.5rem; font-weight: 600; }
.tiles p { margin: 0; font-size: .85rem; }
figure { margin: 1.2rem 0 2rem; } figcaption { font-size: .9rem; margin-bottom: .8rem; }
.row { display: grid; grid-template-columns: 10rem 1fr 15rem; gap: .3rem 1rem; align-items: center;
  padding: .3rem 0; }
.row + .row { border-top: 1px solid var(--line); }
.name { font-weight: 600; } .words { font-size: .9rem; }
.track { position: relative; height: 1.1rem; }
.track i { position: absolute; top: 50%; height: 4px; margin-top: -2px; border-radius: 2px; }
.track .sure { background: var(--sure); } .track .open { background: var(--open); }
.track .bad { background: var(--bad); }
.track .dot { width: 12px; height: 12px; margin: -6px 0 0 -6px; border-radius: 50%; }
.track .zero { top: 0; width: 2px; height: 100%; margin: 0 0 0 -1px; background: var(--faint); }
.track .count { left: 0; top: 15%; height: 70%; margin: 0; background: var(--count); }
.ends { display: flex; justify-content: space-between; font-size: .8rem; }
table { border-collapse: collapse; font-size: .88rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem .3rem 0; text-align: left;
  vertical-align: top; }
.scroll { overflow-x: auto; } .scroll td { min-width: 3.5rem; }
summary { cursor: pointer; } footer { margin-top: 3rem; font-size: .85rem; }
@media (max-width: 40rem) { .row { grid-template-columns: 1fr; } .row > div:empty { display: none; } }
@media print { details { display: none; } }
"""
