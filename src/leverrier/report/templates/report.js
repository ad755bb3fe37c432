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
  document.querySelectorAll(".picture").forEach(function (picture) {
    picture.addEventListener("mousemove", function (event) {
      if (picture.classList.contains("live")) return;
      var mark = event.target.closest('[role="graphics-symbol"][aria-label]');
      var label = mark && mark.getAttribute("aria-roledescription") !== "axis" ? mark.getAttribute("aria-label") : "";
      tell(label ? [label] : [], event);
    });
    picture.addEventListener("mouseleave", function (event) { tell([], event); });
  });
  function tell(lines, event) {
    tip.hidden = !lines.length;
    tip.replaceChildren();
    lines.forEach(function (line) { tip.appendChild(made("div", "", line)); });
    if (!lines.length) return;
    var left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 6);
    var below = event.clientY + 16;
    var above = event.clientY - 12 - tip.offsetHeight;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (below + tip.offsetHeight > innerHeight && above > 0 ? above : below) + "px";
  }
  function made(tag, kind, text) {
    var element = document.createElement(tag);
    element.className = kind;
    element.textContent = text;
    return element;
  }

  // Live figures: a picture that is pointed at, focused, tapped or explored is drawn anew by Vega, at the same size.
  document.querySelectorAll("script.spec").forEach(function (spec, number) {
    var figure = spec.parentNode;
    var picture = figure.querySelector(".picture");
    var tools = made("span", "tools", "");
    var explore = tools.appendChild(button("Explore", "Draw this figure anew, with its values", wake));
    var timer = 0;
    var state = "still";
    picture.tabIndex = 0;
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", figure.querySelector("figcaption").textContent);
    figure.querySelector("figcaption").prepend(tools);
    picture.addEventListener("pointerenter", function (event) {
      if (event.pointerType !== "touch") timer = setTimeout(wake, 100); // (not for a pointer on its way elsewhere)
    });
    picture.addEventListener("pointerleave", function () { clearTimeout(timer); });
    picture.addEventListener("focus", wake);
    picture.addEventListener("click", wake);

    function wake() {
      if (state !== "still") return;
      state = "waking";
      drawn(JSON.parse(spec.textContent)).then(function (chart) {
        var still = picture.querySelector("svg");
        var size = still.viewBox.baseVal;
        var focused = document.activeElement === explore;
        picture.style.aspectRatio = size.width + " / " + size.height;
        if (!figure.closest(".figures")) picture.style.maxWidth = size.width + "px";
        picture.classList.add("live");
        picture.replaceChildren(chart.place);
        tools.replaceChildren("Save ", saver("SVG"), " ", saver("PNG"));
        if (focused) picture.focus();
        tip.hidden = true;
        state = "live";
      }).catch(function (error) { // (an old browser, say: the picture stays)
        console.error(error);
        tools.remove();
        state = "failed";
      });
    }
    function saver(kind) {
      return button(kind, "Save this figure as " + kind, function () {
        var paper = JSON.parse(spec.textContent);
        paper.background = "white";
        drawn(paper).then(function (chart) {
          var image = kind === "PNG" ? chart.view.toImageURL("png", 3) : chart.view.toSVG().then(function (svg) {
            return URL.createObjectURL(new Blob([svg.replaceAll('="currentColor"', '="black"')], { type: "image/svg+xml" }));
          });
          return image.then(function (address) {
            var link = document.createElement("a");
            link.href = address;
            link.download = figure.closest("section").id + "-" + (number + 1) + "." + kind.toLowerCase();
            link.click();
            chart.view.finalize();
            setTimeout(function () { URL.revokeObjectURL(address); }, 60000);
          });
        });
      });
    }
  });
  function button(text, title, act) {
    var element = made("button", "", text);
    element.type = "button";
    element.title = title;
    element.addEventListener("click", act);
    return element;
  }
  // Expressions are walked, not compiled (ast), and tips are ours: the page's policy allows neither eval nor styles.
  async function drawn(spec) {
    if (!window.leverrierEmbed) {
      var script = document.createElement("script");
      script.textContent = document.getElementById("vega").textContent;
      document.head.appendChild(script);
    }
    var place = document.createElement("div");
    var size = spec.autosize; // (put back once compiled: Vega-Lite remarks on it where rows have a height, and keeps it)
    delete spec.autosize;
    var chart = await window.leverrierEmbed(place, spec, {
      mode: "vega-lite", ast: true, renderer: "svg", tooltip: values, actions: false, defaultStyle: false,
      patch: function (compiled) { return size ? Object.assign(compiled, { autosize: size }) : compiled; }
    });
    return { place: place, view: chart.view };
  }
  function values(handler, event, item, value) {
    var pairs = value && typeof value === "object" ? Object.entries(value) : value ? [["", value]] : [];
    tell(pairs.map(function (pair) { return (pair[0] ? pair[0] + ": " : "") + pair[1]; }), event);
  }
})();
