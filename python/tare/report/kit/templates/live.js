"use strict";
// Asks the server for the page's next state, and puts it in the place of this one. What the reader has opened stays open.
(() => {
  const every = Number(document.body.dataset.every) * 1000;
  const state = document.getElementById("live-state");
  const filter = document.getElementById("filter");
  let page = JSON.parse(document.getElementById("page-data").textContent);
  let etag = null;

  const textOf = (page, chart) => JSON.stringify([chart.spec, chart.data.map((name) => page.data[name])]);
  const drawn = new Map(); // by name: what was drawn last

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      const chart = page.charts.find((one) => `chart-${one.name}` === entry.target.id);
      const text = chart && textOf(page, chart);
      if (chart && drawn.get(chart.name) !== text) {
        drawn.set(chart.name, text);
        drawChart(page, chart);
      }
    }
  });
  const watchCharts = () => {
    seen.disconnect();
    for (const place of document.querySelectorAll(".chart")) seen.observe(place);
  };

  const sieve = () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const row of document.querySelectorAll("main .wide table:not(.facts) tbody tr")) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
    }
  };

  const replace = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    page = JSON.parse(next.getElementById("page-data").textContent);
    const isOpen = [...document.querySelectorAll("main details")].map((one) => [one.querySelector("summary").textContent, one.open]);
    const opened = new Map(isOpen);
    for (const one of next.querySelectorAll("main details")) {
      one.open = opened.get(one.querySelector("summary").textContent) ?? one.open;
    }
    // A chart keeps its place until its data are other ones, so that nothing flickers or jumps.
    for (const figure of next.querySelectorAll("main figure[id]")) {
      const old = document.getElementById(figure.id);
      if (old === null) continue;
      old.querySelector("figcaption").replaceWith(figure.querySelector("figcaption"));
      figure.replaceWith(old);
    }
    for (const part of ["main", "h1", ".under", "nav", "#actions"]) {
      const there = document.querySelector(part);
      const here = next.querySelector(part);
      if (there.innerHTML !== here.innerHTML) there.replaceChildren(...here.childNodes);
    }
    document.title = next.title;
    sieve();
    watchCharts();
  };

  const tell = (words, lost) => {
    state.textContent = words;
    state.className = lost ? "lost" : "";
  };

  const look = async () => {
    if (document.hidden) return;
    try {
      const headers = { "Tare-Part": "1", ...(etag ? { "If-None-Match": etag } : {}) };
      const answer = await fetch(location.href, { headers, cache: "no-store" });
      if (answer.status === 200 || answer.status === 503) {
        etag = answer.headers.get("ETag");
        replace(await answer.text());
      } else if (answer.status !== 304) {
        tell(`The observer refused (${answer.status}): open the address that it printed.`, true);
        return;
      }
      tell("live", false);
    } catch {
      tell("The observer does not answer: this page is as it was last. Start it again: tare observe", true);
    }
  };

  filter.addEventListener("input", sieve);
  document.addEventListener("visibilitychange", look);
  watchCharts();
  tell("live", false);
  document.documentElement.dataset.drawn = "0";
  setInterval(look, every);
})();
