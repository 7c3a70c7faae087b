openSocket();
})();
