"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function themed(figure) {
  const axis = { gridcolor: tone("--line"), zerolinecolor: tone("--line"), linecolor: tone("--line") };
  const data = figure.data.map((trace) =>
    trace.type === "heatmap"
      ? { ...trace, showscale: innerWidth > 500, colorscale: [[0, tone("--code")], [1, tone("--call_rejected")]], colorbar: { ...trace.colorbar, outlinewidth: 0, tickfont: { color: tone("--soft") } } }
      : { ...trace, marker: { color: tone(`--${trace.meta}`) } },
  );
  const layout = {
    ...figure.layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: tone("--ink"), family: "system-ui, sans-serif", size: 12 },
    hoverlabel: { bgcolor: tone("--card"), bordercolor: tone("--line"), font: { color: tone("--ink") }, align: "left" },
    xaxis: { ...figure.layout.xaxis, ...axis },
    yaxis: { ...figure.layout.yaxis, ...axis },
  };
  return [data, layout];
}

function draw() {
  for (const [name, figure] of Object.entries(charts)) {
    Plotly.react(name, ...themed(figure), { responsive: true, displayModeBar: false });
  }
}

async function load(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (byte) => byte.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.body.append(script);
}

load("plotly").then(() => {
  draw();
  dark.addEventListener("change", draw);
});
