(function () {
  "use strict";
  // The network: point at a node or an arc to see its table beside it, click to keep it.
  document.querySelectorAll(".drawing").forEach(function (drawing) {
    var svg = drawing.querySelector("svg.net");
    var panel = drawing.nextElementSibling;
    if (!svg || !panel || !panel.classList.contains("panel")) return;
    var hint = panel.firstElementChild;
    var kept = null;
    panel.hidden = false;
    var first = svg.querySelector(".node.hidden") || svg.querySelector(".node");
    var canvas = svg.parentNode;
    if (first) {
      var from = canvas.getBoundingClientRect();
      var box = first.getBoundingClientRect();
      canvas.scrollLeft += box.left + box.width / 2 - from.left - from.width / 2;
    }

    function show(link) {
      panel.replaceChildren();
      svg.classList.toggle("asked", !!link);
      svg.querySelectorAll(".near, .chosen").forEach(function (each) { each.classList.remove("near", "chosen"); });
      if (!link) { panel.appendChild(hint); return; }
      panel.classList.add("used");
      var card = document.getElementById(link.dataset.card);
      if (link.dataset.note) add("p", "note", link.dataset.note);
      if (card) {
        add("h3", "", card.querySelector("summary").textContent);
        Array.prototype.slice.call(card.children, 1).forEach(function (each) { panel.appendChild(each.cloneNode(true)); });
      }
      panel.scrollTop = 0;
      mark(link);
    }
    function add(tag, kind, text) {
      var made = document.createElement(tag);
      made.className = kind;
      made.textContent = text;
      panel.appendChild(made);
    }
    function mark(link) {
      var ident = link.dataset.card;
      var ends = link.dataset.from ? [link.dataset.from, link.dataset.to] : [ident];
      link.classList.add("near", "chosen");
      svg.querySelectorAll(".arc").forEach(function (arc) {
        var touches = arc.dataset.from === ident || arc.dataset.to === ident;
        if (link.dataset.from ? arc === link : touches) {
          arc.classList.add("near");
          ends.push(arc.dataset.from, arc.dataset.to);
        }
      });
      svg.querySelectorAll(".node").forEach(function (node) {
        if (ends.indexOf(node.dataset.card) >= 0) node.classList.add("near");
      });
    }
    svg.addEventListener("mouseover", function (event) {
      var link = event.target.closest("a");
      if (link) show(link);
    });
    svg.addEventListener("mouseleave", function () { show(kept); });
    svg.addEventListener("focusin", function (event) {
      var link = event.target.closest("a");
      if (link) show(link);
    });
    svg.addEventListener("click", function (event) {
      var link = event.target.closest("a");
      if (link) event.preventDefault();
      kept = link === kept ? null : link;
      show(kept);
    });
  });
  // Figures: what a mark says of itself (its label for screen readers), beside the pointer.
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.appendChild(tip);
  document.querySelectorAll(".figures svg").forEach(function (svg) {
    svg.addEventListener("mousemove", function (event) {
      var mark = event.target.closest('[role="graphics-symbol"][aria-label]');
      var label = mark && mark.getAttribute("aria-roledescription") !== "axis" ? mark.getAttribute("aria-label") : "";
      tip.hidden = !label;
      if (!label) return;
      tip.textContent = label;
      var left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 6);
      tip.style.left = Math.max(4, left) + "px";
      tip.style.top = event.clientY + 16 + "px";
    });
    svg.addEventListener("mouseleave", function () { tip.hidden = true; });
  });
})();
