const hemiolaInitial = null;
(() => {
    window.hemiolaState = hemiolaInitial;
})();
