<?php
// Answers each request with what PHP has received, in its own server or as a CGI program.
$body = file_get_contents('php://input');
$shown = strlen($body) <= 4096 ? '=' . bin2hex($body) : strlen($body) . '-' . md5($body);
$caller = $_SERVER['HTTP_X_SVC_CALLER'] ?? '';
header("X-Report: {$_SERVER['REQUEST_METHOD']} {$_SERVER['REQUEST_URI']} $caller $shown");
header('Content-Type: text/plain');
header('Content-Length: 3');
if ($_SERVER['REQUEST_METHOD'] !== 'HEAD') echo "ok\n";
